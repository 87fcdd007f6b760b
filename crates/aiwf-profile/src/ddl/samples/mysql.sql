-- MySQL dump 10.13
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
# a comment with a 'quote

DROP TABLE IF EXISTS `account`;
CREATE TABLE `account` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `tenant_id` int NOT NULL COMMENT 'owner; of the row',
  `email` varchar(190) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT '',
  `role` enum('admin','member','it''s') NOT NULL DEFAULT 'member',
  `is_active` tinyint(1) NOT NULL DEFAULT '1',
  `settings` json DEFAULT NULL,
  `last_seen` datetime(6) DEFAULT NULL,
  `updated_at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `email_lower` varchar(190) GENERATED ALWAYS AS (lower(`email`)) STORED,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_account_email` (`tenant_id`,`email`),
  KEY `ix_account_seen` (`last_seen`),
  CONSTRAINT `fk_account_tenant` FOREIGN KEY (`tenant_id`) REFERENCES `tenant` (`id`) ON DELETE RESTRICT
) ENGINE=InnoDB AUTO_INCREMENT=42 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci COMMENT='People who log in';

LOCK TABLES `account` WRITE;
INSERT INTO `account` VALUES (1,1,'a\'b;c@x.y','admin',1,NULL,NULL,'2024-01-01','');
UNLOCK TABLES;

CREATE TABLE IF NOT EXISTS `tenant` (
  `id` int NOT NULL,
  `name` varchar(80) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;

DELIMITER ;;
CREATE TRIGGER `account_bi` BEFORE INSERT ON `account` FOR EACH ROW BEGIN
  SET NEW.email = LOWER(NEW.email);
END ;;
DELIMITER ;

CREATE TABLE `account_group` (
  `account_id` bigint unsigned NOT NULL,
  `group_name` varchar(40) NOT NULL,
  PRIMARY KEY (`account_id`,`group_name`),
  FULLTEXT KEY `ft_group` (`group_name`),
  FOREIGN KEY (`account_id`) REFERENCES `account` (`id`) ON DELETE CASCADE ON UPDATE CASCADE
);
