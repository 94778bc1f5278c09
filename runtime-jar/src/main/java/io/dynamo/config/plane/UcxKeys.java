package io.dynamo.config.plane;

import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.PATH;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.nio.file.Path;
import java.util.List;

/** The settings of UCX between workers, in the order of the documentation. */
public final class UcxKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<UcxMode> MODE =
      KEYS.key(
          "dynamo.transfer.ucx.mode",
          SettingType.oneOf(UcxMode.class),
          "off",
          none(),
          "when KV blocks go to other workers by UCX: `auto` where a network card places the bytes"
              + " (RDMA), `always` also over TCP, which is for tests; UCX has no authentication"
              + " ([security](security.md#kv-blocks-on-the-network))");
  static final SettingKey<Path> LIBRARY =
      KEYS.key(
          "dynamo.transfer.ucx.library",
          PATH,
          "",
          none(),
          "UCX's `libucp.so.0`, its folder, or the folder of Python packages with `nixl`, which"
              + " brings one; left out, the system's loader is asked");

  private UcxKeys() {}

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  static UcxSettings read(KeyReader reader) {
    return new UcxSettings(reader.get(MODE), reader.optional(LIBRARY));
  }
}
