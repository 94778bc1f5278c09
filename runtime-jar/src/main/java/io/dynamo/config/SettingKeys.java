package io.dynamo.config;

import io.dynamo.config.frontend.AdmissionKeys;
import io.dynamo.config.frontend.ApiKeys;
import io.dynamo.config.frontend.BatchesKeys;
import io.dynamo.config.frontend.FrontendKeys;
import io.dynamo.config.frontend.GrpcKeys;
import io.dynamo.config.frontend.MediaKeys;
import io.dynamo.config.frontend.ResponsesKeys;
import io.dynamo.config.frontend.RouteKeys;
import io.dynamo.config.key.Alias;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.plane.DiscoveryKeys;
import io.dynamo.config.plane.EventKeys;
import io.dynamo.config.plane.ModelFileKeys;
import io.dynamo.config.plane.NatsKeys;
import io.dynamo.config.plane.RequestKeys;
import io.dynamo.config.plane.TcpKeys;
import io.dynamo.config.plane.TransferKeys;
import io.dynamo.config.router.RouterKeys;
import io.dynamo.config.watch.LogKeys;
import io.dynamo.config.watch.MetricsKeys;
import io.dynamo.config.watch.RequestTraceKeys;
import io.dynamo.config.watch.StatusKeys;
import io.dynamo.config.watch.TraceKeys;
import io.dynamo.config.worker.EngineKeys;
import io.dynamo.config.worker.WorkerKeys;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Lists every setting, in the order of the documentation. */
final class SettingKeys {
  private static final List<SettingKey<?>> ALL = gathered();

  private SettingKeys() {}

  static List<SettingKey<?>> all() {
    return ALL;
  }

  /** Returns the environment names that the original Dynamo has for settings. */
  static Set<String> variables() {
    return ALL.stream()
        .flatMap(key -> key.aliases().stream())
        .map(Alias::variable)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Returns the alias under which {@code environment} sets a setting; of several, the last one;
   * null when it sets none.
   */
  static @Nullable Alias alias(String key, Function<String, @Nullable String> environment) {
    for (var setting : ALL) {
      if (setting.name().equals(key)) {
        for (var alias : setting.aliases().reversed()) {
          var text = environment.apply(alias.variable());
          if (text != null && !text.isBlank()) {
            return alias;
          }
        }
      }
    }
    return null;
  }

  private static List<SettingKey<?>> gathered() {
    var keys = new KeyList();
    keys.addAll(ServerKeys.all());
    keys.addAll(DiscoveryKeys.all());
    keys.addAll(ModelFileKeys.all());
    keys.addAll(RequestKeys.all());
    keys.addAll(TcpKeys.all());
    keys.addAll(EventKeys.all());
    keys.addAll(NatsKeys.all());
    keys.addAll(TransferKeys.all());
    keys.addAll(RouterKeys.all());
    keys.addAll(FrontendKeys.all());
    keys.addAll(LogKeys.all());
    keys.addAll(MetricsKeys.all());
    keys.addAll(TraceKeys.all());
    keys.addAll(RequestTraceKeys.all());
    keys.addAll(AdmissionKeys.all());
    keys.addAll(ApiKeys.all());
    keys.addAll(ResponsesKeys.all());
    keys.addAll(BatchesKeys.all());
    keys.addAll(MediaKeys.all());
    keys.addAll(GrpcKeys.all());
    keys.addAll(RouteKeys.all());
    keys.addAll(WorkerKeys.all());
    keys.addAll(EngineKeys.all());
    keys.addAll(StatusKeys.all());
    return keys.all();
  }
}
