/**
 * Regions that other processes write into, or read, over TCP: start at {@link
 * io.dynamo.transfer.tcp.TcpRegionExchange}. The bytes on the wire are drawn in {@link
 * io.dynamo.transfer.tcp.RegionFrame}.
 */
@NullMarked
package io.dynamo.transfer.tcp;

import org.jspecify.annotations.NullMarked;
