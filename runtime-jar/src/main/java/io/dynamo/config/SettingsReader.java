package io.dynamo.config;

import io.dynamo.config.frontend.ApiKeys;
import io.dynamo.config.frontend.BatchesKeys;
import io.dynamo.config.frontend.FrontendKeys;
import io.dynamo.config.frontend.GrpcKeys;
import io.dynamo.config.frontend.ResponsesKeys;
import io.dynamo.config.frontend.RouteKeys;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.Lookup;
import io.dynamo.config.plane.DiscoveryKeys;
import io.dynamo.config.plane.EventKeys;
import io.dynamo.config.plane.NatsKeys;
import io.dynamo.config.plane.RequestKeys;
import io.dynamo.config.plane.TcpKeys;
import io.dynamo.config.plane.TransferKeys;
import io.dynamo.config.router.RouterReader;
import io.dynamo.config.watch.LogKeys;
import io.dynamo.config.watch.MetricsKeys;
import io.dynamo.config.watch.RequestTraceKeys;
import io.dynamo.config.watch.RequestTraceSettings.Sink;
import io.dynamo.config.watch.StatusKeys;
import io.dynamo.config.watch.TraceKeys;
import io.dynamo.config.watch.WatchSettings;
import io.dynamo.config.worker.WorkerReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import org.eclipse.microprofile.config.Config;

/** Reads and checks all settings at once. One use, one thread. */
public final class SettingsReader {
  private final KeyReader keys;
  private final WorkerReader workers;

  private SettingsReader(Lookup lookup) {
    keys = new KeyReader(lookup);
    workers = new WorkerReader(keys);
  }

  /**
   * Reads the settings from {@code config}.
   *
   * @throws InvalidSettingsException listing every bad value
   */
  public static Settings read(Config config) {
    var sources = new SettingSources(config);
    var problems = new ArrayList<>(new OperatorFile().problems());
    problems.addAll(UnsupportedVariables.refusals(System.getenv(), sources::find));
    return read(sources::find, sources.names(), problems);
  }

  /**
   * Reads the settings from {@code lookup}; blank texts count as absent.
   *
   * @throws InvalidSettingsException listing every bad value
   */
  public static Settings read(Lookup lookup) {
    return read(lookup, List.of(), List.of());
  }

  /**
   * Reads the settings from {@code lookup}.
   *
   * @param names of everything that is set, to find names that are not settings
   * @param problems found before
   */
  static Settings read(Lookup lookup, Collection<GivenName> names, List<String> problems) {
    var reader = new SettingsReader(lookup);
    reader.keys.addProblems(problems);
    SettingKeys.all().forEach(reader.keys::take);
    reader.check(names);
    reader.keys.refuseProblems();
    return reader.settings();
  }

  private void check(Collection<GivenName> names) {
    ServerKeys.check(keys);
    DiscoveryKeys.check(keys);
    RequestKeys.check(keys, ServerKeys.INSECURE);
    TcpKeys.check(keys, ServerKeys.INSECURE);
    EventKeys.check(keys, ServerKeys.OPEN_PLANES);
    NatsKeys.check(keys, ServerKeys.OPEN_PLANES, RequestTraceKeys.goesTo(keys, Sink.NATS));
    keys.addProblems(new RouterReader(keys).problems());
    var modelProblems = workers.problems();
    keys.addProblems(modelProblems);
    var roles = keys.optional(ServerKeys.ROLES);
    if (modelProblems.isEmpty() && roles != null && roles.contains(Role.WORKER)) {
      keys.addProblems(workers.tableProblems());
    }
    keys.addProblems(unknown(names));
    keys.addProblems(MetricsKeys.problems(keys));
    keys.addProblems(ResponsesKeys.problems(keys));
    keys.addProblems(RouteKeys.problems(keys));
    StatusKeys.check(keys, ServerKeys.INSECURE);
    RequestTraceKeys.check(keys, ServerKeys.OPEN_PLANES);
  }

  private List<String> unknown(Collection<GivenName> names) {
    var known = new HashSet<>(workers.ownKeys());
    SettingKeys.all().forEach(key -> known.add(key.name()));
    return new UnknownNames(known).problems(names);
  }

  private Settings settings() {
    return new Settings(
        ServerKeys.read(keys),
        DiscoveryKeys.read(keys),
        RequestKeys.read(keys),
        TcpKeys.read(keys),
        EventKeys.read(keys),
        NatsKeys.read(keys),
        TransferKeys.read(keys),
        new RouterReader(keys).read(),
        FrontendKeys.read(keys),
        ApiKeys.read(keys),
        RouteKeys.read(keys),
        BatchesKeys.read(keys),
        GrpcKeys.read(keys),
        workers.read(),
        StatusKeys.read(keys),
        new WatchSettings(
            MetricsKeys.read(keys),
            TraceKeys.read(keys),
            keys.get(FrontendKeys.REQUEST_LOG),
            LogKeys.read(keys),
            RequestTraceKeys.read(keys)));
  }
}
