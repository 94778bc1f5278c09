package io.dynamo.config.plane;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Which files model cards may have a frontend read. Keys: {@code dynamo.discovery.model-*}.
 *
 * @param maxBytes of a tokenizer
 * @param folders of this machine that they may be in; empty for any but those of the system
 * @param hosts that they may be fetched from; empty for any worker's
 */
public record ModelFileSettings(int maxBytes, List<Path> folders, Set<String> hosts) {
  public ModelFileSettings {
    folders = List.copyOf(folders);
    hosts = Set.copyOf(hosts);
  }
}
