package io.dynamo.config.plane;

import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.NAMES;
import static io.dynamo.config.key.SettingType.PATH;

import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The settings of NIXL, in the order of the documentation. */
public final class NixlKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Path> LIBRARY =
      KEYS.key(
          "dynamo.transfer.nixl.library",
          PATH,
          "",
          none(),
          "NIXL's `libnixl_capi.so`, its folder, the prefix of an installation, or the folder of"
              + " Python packages with `nixl`; left out, the system's loader and NVIDIA's prefixes"
              + " are asked");
  static final SettingKey<Path> PLUGINS =
      KEYS.key(
          "dynamo.transfer.nixl.plugins",
          PATH,
          "",
          none(),
          "folder of NIXL's plug-ins; left out, the one beside the library",
          plain("NIXL_PLUGIN_DIR"));
  static final SettingKey<Boolean> UCX =
      KEYS.key(
          "dynamo.transfer.nixl.ucx",
          BOOLEAN,
          "true",
          none(),
          "whether agents of NIXL use UCX",
          plain("DYN_KVBM_NIXL_BACKEND_UCX"));
  static final SettingKey<Boolean> LIBFABRIC =
      KEYS.key(
          "dynamo.transfer.nixl.libfabric",
          BOOLEAN,
          "false",
          none(),
          "whether agents of NIXL use libfabric, after UCX",
          plain("DYN_KVBM_NIXL_BACKEND_LIBFABRIC"));
  static final SettingKey<Boolean> MOONCAKE =
      KEYS.key(
          "dynamo.transfer.nixl.mooncake",
          BOOLEAN,
          "false",
          none(),
          "whether agents of NIXL use Mooncake's transfer engine, after the others",
          plain("DYN_KVBM_NIXL_BACKEND_MOONCAKE"));
  static final SettingKey<List<String>> PARAMETERS =
      KEYS.key(
          "dynamo.transfer.nixl.parameters",
          NAMES,
          "",
          new Bound<>(
              "entries such as UCX.num_workers=2, each of one of UCX, LIBFABRIC and MOONCAKE",
              NixlKeys::areParameters),
          "parameters of the backends, as NIXL names them: `UCX.num_workers=2`");

  private NixlKeys() {}

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  static NixlSettings read(KeyReader reader) {
    var backends = new ArrayList<String>();
    if (reader.get(UCX)) {
      backends.add("UCX");
    }
    if (reader.get(LIBFABRIC)) {
      backends.add("LIBFABRIC");
    }
    if (reader.get(MOONCAKE)) {
      backends.add("MOONCAKE");
    }
    var given = reader.optional(PARAMETERS);
    return new NixlSettings(
        reader.optional(LIBRARY),
        reader.optional(PLUGINS),
        backends,
        given == null ? Map.of() : parameters(given));
  }

  private static boolean areParameters(List<String> entries) {
    return entries.stream()
        .allMatch(entry -> entry.matches("(UCX|LIBFABRIC|MOONCAKE)\\.[A-Za-z0-9_]+=.*"));
  }

  private static Map<String, Map<String, String>> parameters(List<String> entries) {
    var all = new HashMap<String, Map<String, String>>();
    for (var entry : entries) {
      int dot = entry.indexOf('.');
      int equals = entry.indexOf('=');
      all.computeIfAbsent(entry.substring(0, dot), _ -> new TreeMap<>())
          .put(entry.substring(dot + 1, equals), entry.substring(equals + 1));
    }
    return all;
  }
}
