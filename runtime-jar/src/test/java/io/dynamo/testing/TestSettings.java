package io.dynamo.testing;

import io.dynamo.config.Settings;
import io.dynamo.config.SettingsReader;
import io.dynamo.config.key.Lookup.SettingText;
import java.util.HashMap;
import java.util.Map;

/** Settings without a container. */
public final class TestSettings {
  private TestSettings() {}

  /** The defaults; directories of the server are below {@code /srv}. */
  public static Settings defaults() {
    return with(Map.of());
  }

  /** The defaults but for {@code values}, by key. */
  public static Settings with(Map<String, String> values) {
    var all =
        new HashMap<>(
            Map.of(
                "java.io.tmpdir", "/tmp",
                "server.config.dir", "/srv/config",
                "server.output.dir", "/srv/output"));
    all.putAll(values);
    return SettingsReader.read(
        name -> {
          var text = all.get(name);
          return text == null ? null : new SettingText(text, "test");
        });
  }
}
