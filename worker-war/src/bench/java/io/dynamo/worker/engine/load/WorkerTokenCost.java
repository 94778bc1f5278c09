package io.dynamo.worker.engine.load;

import io.dynamo.concurrent.Alarms;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.kv.StoredBlock;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.tcp.TcpEndpointServer;
import io.dynamo.token.SequenceHash;
import io.dynamo.wire.generate.GenerateCodec;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteWishes;
import io.dynamo.worker.engine.vllm.VllmDialect;
import io.dynamo.worker.serve.EngineGuard;
import io.dynamo.worker.serve.GenerateEndpoint;
import io.dynamo.worker.serve.Handovers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Measures what a token costs a worker before an engine's server: this process receives it from
 * there, guards it and sends it to the requester; another process is the server and the requesters.
 *
 * <p>{@code java -cp <class path of worker-war>:worker-war/target/bench-classes
 * io.dynamo.worker.engine.load.WorkerTokenCost <streams> <milliseconds between tokens> <rounds>
 * [<tokens per answer>]}
 */
public final class WorkerTokenCost {
  private static final int COLD_SECONDS = 30;
  private static final int WARM_SECONDS = 10; // of each round
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private WorkerTokenCost() {}

  public static void main(String[] args) throws Exception {
    if (args[0].equals("around")) {
      Surroundings.run(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
      return;
    }
    var tokens = args.length > 3 ? args[3] : "64";
    var around =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                WorkerTokenCost.class.getName(),
                "around",
                args[1],
                tokens)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var in = around.inputReader();
        var out = new PrintWriter(around.outputWriter(), true)) {
      measure(in, out, Integer.parseInt(args[0]), Integer.parseInt(args[2]));
    } finally {
      around.destroyForcibly().waitFor();
    }
    System.exit(0);
  }

  private static void measure(BufferedReader in, PrintWriter out, int streams, int rounds)
      throws IOException, InterruptedException {
    var server = URI.create("http://127.0.0.1:" + in.readLine());
    var timer = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
    try (var loops = new EventLoops(Runtime.getRuntime().availableProcessors());
        var plane = new TcpEndpointServer(PlaneSettings.tcp(), loops, new Metrics());
        var engine = engine(loops, server);
        var guard = new EngineGuard(8192, PATIENCE, Alarms.on(timer), System::nanoTime)) {
      var description = engine.start(new NoEvents());
      guard.start(1, new Complaints());
      var handler =
          new Handovers(new GenerateEndpoint(engine, description, guard), System::nanoTime);
      var served =
          plane.serve(PlaneSettings.ENDPOINT, new InstanceId(1), handler, new GenerateCodec());
      var address = (TransportAddress.Tcp) served.address();
      out.println("send %d %s %s".formatted(streams, address.address(), address.path()));
      report(in, out, "first %d s".formatted(COLD_SECONDS), COLD_SECONDS);
      for (int round = 0; round < rounds; round++) {
        report(in, out, "warm", WARM_SECONDS);
      }
    } finally {
      timer.shutdownNow();
    }
  }

  private static RemoteEngine engine(EventLoops loops, URI server) {
    var config = new RemoteConfig(server, null, null, PATIENCE, PATIENCE, 1024, 8192, 8192, 1, 32);
    var wishes = new RemoteWishes(null, 16, 10_000, null, 256, 8192);
    return new RemoteEngine(loops, config, new VllmDialect(wishes), null);
  }

  private static void report(BufferedReader in, PrintWriter out, String phase, int seconds)
      throws IOException, InterruptedException {
    long before = count(in, out);
    var cost = new ThreadCost();
    Thread.sleep(seconds * 1000L);
    var after = count(in, out);
    System.out.printf(
        "%s: %d tokens/s, %s; load %s%n",
        phase,
        (after - before) / seconds,
        cost.per(after - before),
        Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
  }

  private static long count(BufferedReader in, PrintWriter out) throws IOException {
    out.println("count");
    var words = in.readLine().split(" ");
    if (!words[1].equals("0")) {
      throw new IOException(words[1] + " requests failed");
    }
    return Long.parseLong(words[0]);
  }

  /** The server publishes no KV events. */
  private record NoEvents() implements KvEventSink {
    @Override
    public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {}

    @Override
    public void removed(int rank, List<SequenceHash> blocks) {}

    @Override
    public void cleared(int rank) {}
  }

  /** The engine's failures, of which a measurement has none. */
  private record Complaints() implements EngineGuard.Listener {
    @Override
    public void suspected(String why) {
      System.err.println("suspected: " + why);
    }

    @Override
    public void failed(String why) {
      System.err.println("failed: " + why);
    }
  }
}
