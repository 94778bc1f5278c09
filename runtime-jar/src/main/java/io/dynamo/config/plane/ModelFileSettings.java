package io.dynamo.config.plane;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The rules for files that model cards have a frontend read. Keys: {@code
 * dynamo.discovery.model-*}.
 *
 * @param maxBytes limit of a tokenizer's size
 * @param folders folders of this machine that may hold them; empty for any except the system's
 * @param hosts hosts that they may be fetched from; empty for any worker's
 */
public record ModelFileSettings(int maxBytes, List<Path> folders, Set<String> hosts) {
  public ModelFileSettings {
    folders = List.copyOf(folders);
    hosts = Set.copyOf(hosts);
  }
}
