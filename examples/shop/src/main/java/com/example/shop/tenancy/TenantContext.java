package com.example.shop.tenancy;

import java.util.function.Supplier;

/** The tenant on whose behalf the current thread works. */
public final class TenantContext {

    private static final ThreadLocal<Long> CURRENT = new ThreadLocal<>();

    private TenantContext() {}

    /** The current tenant; there is always one while a request is handled. */
    public static long require() {
        Long tenantId = CURRENT.get();
        if (tenantId == null) {
            throw new IllegalStateException("no tenant is set for this thread");
        }
        return tenantId;
    }

    /** Runs {@code work} for a tenant and restores what was set before. */
    public static <T> T callAs(long tenantId, Supplier<T> work) {
        Long before = CURRENT.get();
        CURRENT.set(tenantId);
        try {
            return work.get();
        } finally {
            if (before == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(before);
            }
        }
    }
}
