package io.dynamo.request.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures the request planes between two processes, beside a plain Netty stream of the same bytes,
 * bare round trips of NATS's own client, and a worker of Dynamo's own that our client drives. Run
 * as docs/benchmarks/request-plane.md says: {@code RequestPlane bench SECONDS ROUNDS [PYTHON]};
 * with {@code -Dnats=ADDRESS} NATS is measured, too. Each process takes commands on its standard
 * input, so that all of them are warm and one at a time is at work.
 */
public final class RequestPlane {
  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "bench" ->
          bench(
              Integer.parseInt(args[1]),
              Integer.parseInt(args[2]),
              args.length > 3 ? args[3] : null);
      case "worker" -> OurPlane.worker(Path.of(args[1]), args.length > 2 ? args[2] : "");
      case "client" -> OurPlane.client(Path.of(args[1]), args.length > 2 ? args[2] : "");
      case "nats-worker" -> NatsRoundTrips.worker(args[1]);
      case "nats-client" -> NatsRoundTrips.client(args[1]);
      case "netty-worker" -> PlainNetty.worker();
      case "netty-client" -> PlainNetty.client(Integer.parseInt(args[1]));
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private record Run(
      double requests,
      double items,
      double workerCpu,
      double clientCpu,
      double workerBytes,
      double clientBytes) {}

  private static void bench(int seconds, int rounds, String python) throws Exception {
    var store = Files.createTempDirectory("request-plane");
    var nats = System.getProperty("nats", "");
    try (var worker = Child.java("worker", store.toString(), nats);
        var client = Child.java("client", store.toString(), nats);
        var nettyWorker = Child.java("netty-worker");
        var bareWorker = nats.isEmpty() ? null : Child.java("nats-worker", nats);
        var bareClient = nats.isEmpty() ? null : Child.java("nats-client", nats);
        var peer = python == null ? null : Child.python(python, store)) {
      int port = Integer.parseInt(nettyWorker.line());
      try (var nettyClient = Child.java("netty-client", "" + port)) {
        var children =
            new Child[] {worker, client, nettyWorker, nettyClient, bareWorker, bareClient, peer};
        for (var child : children) {
          while (child != null
              && !child.line().equals("ready")) {} // a JVM may have things to say first
        }
        var sides = new LinkedHashMap<String, Side>();
        sides.put("dial", new Side("netty, called home", nettyWorker, nettyClient));
        sides.put("kept", new Side("netty, kept", nettyWorker, nettyClient));
        sides.put("tcp", new Side("tcp", worker, client));
        sides.put("http2", new Side("http2", worker, client));
        if (bareWorker != null) {
          sides.put("nats", new Side("nats", worker, client));
        }
        if (peer != null) {
          sides.put("peer", new Side("Dynamo's worker, tcp", peer, client));
        }
        for (var what : sides.keySet()) {
          while (sides.get(what).client() == client
              && client.ask("run " + what + " 1 1 100").equals("none")) {
            Thread.sleep(200);
          }
        }
        for (int items : new int[] {128, 1}) {
          for (int streams : new int[] {64, 1, 1024}) {
            if (System.getProperty("only", items + "x" + streams).equals(items + "x" + streams)) {
              measure(sides, items, streams, seconds, rounds);
            }
          }
        }
        if (bareWorker != null) {
          measure(
              Map.of("bare", new Side("NATS's own client, bare", bareWorker, bareClient)),
              1,
              1,
              seconds,
              rounds);
        }
      }
    }
  }

  /** The two processes between which requests of one kind are measured. */
  private record Side(String name, Child worker, Child client) {}

  /** Prints a row for each side; the first one is what the others are compared with. */
  private static void measure(
      Map<String, Side> sides, int items, int streams, int seconds, int rounds) throws IOException {
    var all = new LinkedHashMap<String, List<Run>>();
    for (int round = -1; round < rounds; round++) { // the first one warms up
      for (var side : sides.entrySet()) {
        var known = side.getValue();
        var run = run(known.worker(), known.client(), side.getKey(), items, streams, seconds);
        if (round >= 0) {
          all.computeIfAbsent(side.getKey(), _ -> new ArrayList<>()).add(run);
        }
      }
    }
    var ceiling = all.get(sides.keySet().iterator().next());
    sides.forEach((what, side) -> print(side.name(), items, streams, all.get(what), ceiling));
  }

  private static Run run(
      Child worker, Child client, String what, int items, int streams, int seconds)
      throws IOException {
    boolean foreign = what.equals("peer");
    long[] workerBefore = foreign ? new long[] {Child.cpu(worker.process), 0} : worker.mark();
    long[] clientBefore = client.mark();
    var result = client.ask("run " + what + " " + items + " " + streams + " " + seconds * 1000);
    long[] clientAfter = client.mark();
    long[] workerAfter = foreign ? new long[] {Child.cpu(worker.process), 0} : worker.mark();
    var words =
        Arrays.stream(result.split(" "))
            .mapToDouble(word -> word.equals("stuck") ? -1 : Double.parseDouble(word))
            .toArray();
    if (words.length != 4 || words[2] > 0 || words[0] * items != words[1]) {
      System.err.println(what + ": " + result + ": some requests failed");
    }
    double count = words[1];
    return new Run(
        words[0] / words[3] * 1e9,
        count / words[3] * 1e9,
        (workerAfter[0] - workerBefore[0]) / 1e3 / count,
        (clientAfter[0] - clientBefore[0]) / 1e3 / count,
        (workerAfter[1] - workerBefore[1]) / count,
        (clientAfter[1] - clientBefore[1]) / count);
  }

  private static void print(
      String name, int items, int streams, List<Run> runs, List<Run> ceiling) {
    System.out.printf(
        "| %s | %d | %d | %,.0f | %,.0f | %.0f %% | %.2f / %.2f | %.0f / %.0f |%n",
        name,
        items,
        streams,
        median(runs, Run::requests),
        median(runs, Run::items),
        100 * median(runs, Run::items) / median(ceiling, Run::items),
        median(runs, Run::workerCpu),
        median(runs, Run::clientCpu),
        median(runs, Run::workerBytes),
        median(runs, Run::clientBytes));
  }

  private static double median(List<Run> runs, java.util.function.ToDoubleFunction<Run> of) {
    var sorted = runs.stream().mapToDouble(of).sorted().toArray();
    return sorted[sorted.length / 2];
  }
}
