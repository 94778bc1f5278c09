/**
 * A whole cluster on one machine: etcd, a NATS server, frontends and workers, each a process,
 * started, watched and stopped together. Start at {@link io.dynamo.cli.cluster.LocalCluster}. Knows
 * no command line.
 */
@NullMarked
package io.dynamo.cli.cluster;

import org.jspecify.annotations.NullMarked;
