USE [Shop]
GO
SET ANSI_NULLS ON
GO
CREATE TABLE [dbo].[Customer](
	[CustomerId] [int] IDENTITY(1,1) NOT NULL,
	[tenant_id] [uniqueidentifier] NOT NULL,
	[Name] [nvarchar](160) NOT NULL,
	[Notes] [nvarchar](max) NULL,
	[CreatedAt] [datetime2](7) NOT NULL,
	[Balance] [decimal](18, 4) NOT NULL,
 CONSTRAINT [PK_Customer] PRIMARY KEY CLUSTERED 
(
	[CustomerId] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF) ON [PRIMARY],
 CONSTRAINT [UQ_Customer_Name] UNIQUE NONCLUSTERED ([tenant_id] ASC, [Name] ASC)
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
CREATE TABLE [dbo].[Order Details](
	[OrderId] [int] NOT NULL,
	[CustomerId] [int] NOT NULL,
	[Total] AS ([Price]*[Quantity]),
	[Price] [money] NOT NULL
) ON [PRIMARY]
GO
ALTER TABLE [dbo].[Customer] ADD  CONSTRAINT [DF_Customer_Balance]  DEFAULT ((0)) FOR [Balance]
GO
ALTER TABLE [dbo].[Order Details]  WITH CHECK ADD  CONSTRAINT [FK_Order_Customer] FOREIGN KEY([CustomerId])
REFERENCES [dbo].[Customer] ([CustomerId])
GO
ALTER TABLE [dbo].[Order Details] CHECK CONSTRAINT [FK_Order_Customer]
GO
