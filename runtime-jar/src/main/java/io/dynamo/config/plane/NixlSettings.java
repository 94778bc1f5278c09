package io.dynamo.config.plane;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where NIXL is, and the backends of its agents. Keys: {@code dynamo.transfer.nixl.*}.
 *
 * @param library file or folder of {@code libnixl_capi.so}; null to look where it usually is
 * @param plugins folder of NIXL's plug-ins; null for the one beside the library
 * @param backends names of the backends, in the order of preference
 * @param parameters of each backend, by its name
 */
public record NixlSettings(
    @Nullable Path library,
    @Nullable Path plugins,
    List<String> backends,
    Map<String, Map<String, String>> parameters) {
  public NixlSettings {
    backends = List.copyOf(backends);
    parameters = Map.copyOf(parameters);
  }
}
