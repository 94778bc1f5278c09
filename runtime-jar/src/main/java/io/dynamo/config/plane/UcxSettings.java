package io.dynamo.config.plane;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Whether and where UCX is used between workers. Keys: {@code dynamo.transfer.ucx.*}.
 *
 * @param mode when regions are written by it
 * @param library file or folder of {@code libucp.so.0}; null to let the system's loader look
 */
public record UcxSettings(UcxMode mode, @Nullable Path library) {}
