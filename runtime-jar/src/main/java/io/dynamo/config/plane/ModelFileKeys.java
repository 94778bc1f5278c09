package io.dynamo.config.plane;

import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.NAMES;
import static io.dynamo.config.key.SettingType.PATHS;
import static io.dynamo.config.key.SettingType.SIZE;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** The settings of the files that model cards name. */
public final class ModelFileKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Integer> LIMIT =
      KEYS.key(
          "dynamo.discovery.model-file-limit",
          SIZE,
          "64MiB",
          sizeBetween(1 << 20, "1MiB", 1 << 29, "512MiB"),
          "the largest tokenizer that a model's card may name; each of its other files may have 16"
              + " MiB of it at most");
  static final SettingKey<List<Path>> FOLDERS =
      KEYS.key(
          "dynamo.discovery.model-folders",
          PATHS,
          "",
          none(),
          "folders below which cards may name files of this machine, links resolved; absent: all"
              + " but `/proc`, `/sys` and `/dev`");
  static final SettingKey<List<String>> HOSTS =
      KEYS.key(
          "dynamo.discovery.model-hosts",
          NAMES,
          "",
          none(),
          "hosts that cards may name to fetch files from, as written in the card; absent: all that"
              + " are not link-local, below `/v1/metadata/` only");

  private ModelFileKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static ModelFileSettings read(KeyReader reader) {
    var folders = reader.optional(FOLDERS);
    var hosts = reader.optional(HOSTS);
    return new ModelFileSettings(
        reader.get(LIMIT),
        folders == null ? List.of() : folders,
        hosts == null ? Set.of() : Set.copyOf(hosts));
  }
}
