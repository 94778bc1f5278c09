package io.dynamo.config.watch;

import java.net.InetSocketAddress;

/**
 * Where programs report their uses of tools. Keys: {@code dynamo.frontend.request-trace.tool-*}.
 *
 * @param address that is bound, for ZeroMQ
 * @param topic the first frame of the messages that are taken
 */
public record ToolEventSettings(InetSocketAddress address, String topic) {}
