/**
 * Discovery in etcd, with Dynamo's own keys and values, so that its processes and ours find each
 * other. Start at {@link io.dynamo.discovery.etcd.EtcdDiscovery}; {@code EtcdStore} makes the
 * calls, {@code EtcdView} knows the records. The client of etcd runs on threads of its own, which
 * hand changes over through {@code ChangeQueue}.
 */
@NullMarked
package io.dynamo.discovery.etcd;

import org.jspecify.annotations.NullMarked;
