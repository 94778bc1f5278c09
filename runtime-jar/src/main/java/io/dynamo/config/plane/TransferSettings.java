package io.dynamo.config.plane;

import java.time.Duration;

/**
 * The settings of transfers of KV blocks between workers. Keys: {@code dynamo.transfer.*}.
 *
 * @param port port of the listener that other workers write blocks to; 0 lets the system choose
 * @param lease how long another worker may take to write blocks
 * @param maxBytes bytes of blocks that other workers may be writing here at once
 * @param onDrain whether a drain moves the blocks of generations that it hands over
 * @param ucx whether other workers are reached by UCX
 * @param nixl where NIXL is, for those that move bytes by it
 */
public record TransferSettings(
    int port, Duration lease, int maxBytes, boolean onDrain, UcxSettings ucx, NixlSettings nixl) {}
