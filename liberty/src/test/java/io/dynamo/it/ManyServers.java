package io.dynamo.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Marks tests that start several servers: they run one class at a time, beside one of those with a
 * server or none. They begin first, for they take the longest.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ResourceLock("a machine's worth of servers")
@Order(1)
@interface ManyServers {}
