/**
 * The records of live processes: their instances, addresses and models, under a lease. Start at
 * {@link io.dynamo.discovery.Discovery}.
 */
@NullMarked
package io.dynamo.discovery;

import org.jspecify.annotations.NullMarked;
