package io.dynamo.worker.engine.load;

import io.dynamo.config.SettingsReader;
import io.dynamo.config.key.Lookup.SettingText;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.EndpointId;
import java.util.Map;

/** The request plane of a measurement: all settings as they are by default. */
final class PlaneSettings {
  static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");

  private static final Map<String, String> SERVER =
      Map.of(
          "java.io.tmpdir", "/tmp",
          "server.config.dir", "/srv/config",
          "server.output.dir", "/srv/output");

  private PlaneSettings() {}

  static TcpSettings tcp() {
    return SettingsReader.read(
            name -> {
              var text = SERVER.get(name);
              return text == null ? null : new SettingText(text, "measurement");
            })
        .tcp();
  }
}
