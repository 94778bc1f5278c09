package io.dynamo.request.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Measures the TCP request plane between two processes, beside a plain Netty stream of the same
 * bytes, and beside a worker of Dynamo's own that our client drives. Run as
 * docs/benchmarks/request-plane.md says: {@code RequestPlane bench SECONDS ROUNDS [PYTHON]}. Each
 * process takes commands on its standard input, so that all of them are warm and one at a time is
 * at work.
 */
public final class RequestPlane {
  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "bench" ->
          bench(
              Integer.parseInt(args[1]),
              Integer.parseInt(args[2]),
              args.length > 3 ? args[3] : null);
      case "worker" -> OurPlane.worker(Path.of(args[1]));
      case "client" -> OurPlane.client(Path.of(args[1]));
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
    try (var worker = Child.java("worker", store.toString());
        var client = Child.java("client", store.toString());
        var nettyWorker = Child.java("netty-worker");
        var peer = python == null ? null : Child.python(python, store)) {
      int port = Integer.parseInt(nettyWorker.line());
      try (var nettyClient = Child.java("netty-client", "" + port)) {
        for (var child : new Child[] {worker, client, nettyWorker, nettyClient, peer}) {
          while (child != null
              && !child.line().equals("ready")) {} // a JVM may have things to say first
        }
        while (client.ask("run ours 1 1 100").equals("none")
            || (peer != null && client.ask("run peer 1 1 100").equals("none"))) {
          Thread.sleep(200);
        }
        for (int items : new int[] {128, 1}) {
          for (int streams : new int[] {64, 1, 1024}) {
            if (!System.getProperty("only", items + "x" + streams).equals(items + "x" + streams)) {
              continue;
            }
            List<List<Run>> all =
                List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            for (int round = -1; round < rounds; round++) { // the first one warms up
              var each =
                  new Run[] {
                    run(worker, client, "ours", items, streams, seconds),
                    run(nettyWorker, nettyClient, "dial", items, streams, seconds),
                    run(nettyWorker, nettyClient, "kept", items, streams, seconds),
                    peer == null ? null : run(peer, client, "peer", items, streams, seconds)
                  };
              for (int i = 0; i < each.length && round >= 0; i++) {
                if (each[i] != null) {
                  all.get(i).add(each[i]);
                }
              }
            }
            var names =
                new String[] {"ours", "netty, called home", "netty, kept", "Dynamo's worker"};
            for (int i = 0; i < names.length; i++) {
              if (!all.get(i).isEmpty()) {
                print(names[i], items, streams, all.get(i), all.get(1));
              }
            }
          }
        }
      }
    }
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
