package io.dynamo.frontend.load;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The options of {@link TokenCost}.
 *
 * @param ears our frontends by name, in place of the packaged one
 * @param cold seconds that are measured from the start; 0 for none
 * @param settings environment of our frontends
 * @param frontendsCore core of the frontends; null for all
 * @param othersCore core of workers and proxy; null for all
 */
record TokenCostOptions(
    Path built,
    Path python,
    Map<String, Path> ears,
    List<Integer> streams,
    int rounds,
    int tokens,
    int cold,
    int warmUp,
    int seconds,
    int callSeconds,
    int sampleSeconds,
    boolean dynamo,
    boolean proxy,
    Map<String, String> settings,
    String frontendsCore,
    String othersCore) {

  private static final String USAGE =
      """
      usage: java frontend-war/src/bench/java/io/dynamo/frontend/load/TokenCost.java LIBERTY-TARGET PYTHON-ENVIRONMENT [options]
        --quick               64 streams, one round, short phases: about a minute for each frontend
        --streams 64,256,512  rows
        --rounds 3            each round measures every frontend; the table has the medians
        --tokens 128          of each answer
        --cold 30             seconds measured from the first request on; 0 leaves them out
        --warm-up 90          seconds of load that are not measured
        --seconds 20          measured when warm
        --calls 5             seconds in which system calls are counted, by perf; 0 for none
        --samples 0           seconds in which our JVM is sampled, by layer
        --ear [name=]FILE     our application in place of the packaged one; given again, another frontend
        --set NAME=VALUE      environment of our frontends
        --pin 0,1             cores of the frontends, and of workers and haproxy
        --without dynamo|haproxy
      """;

  static TokenCostOptions parse(String[] args) {
    if (args.length < 2) {
      throw new IllegalArgumentException(USAGE);
    }
    var ears = new LinkedHashMap<String, Path>();
    var settings = new LinkedHashMap<String, String>();
    var streams = List.of(64, 256, 512);
    int rounds = 3;
    int tokens = 128;
    int cold = 30;
    int warmUp = 90;
    int seconds = 20;
    int calls = 5;
    int samples = 0;
    boolean dynamo = true;
    boolean proxy = true;
    String own = null;
    String others = null;
    for (int i = 2; i < args.length; i++) {
      if (args[i].equals("--quick")) {
        streams = List.of(64);
        rounds = 1;
        cold = 15;
        warmUp = 20;
        seconds = 10;
        continue;
      }
      if (i + 1 == args.length) {
        throw new IllegalArgumentException(args[i] + " needs a value\n" + USAGE);
      }
      var value = args[i + 1];
      switch (args[i++]) {
        case "--streams" -> streams = Stream.of(value.split(",")).map(Integer::valueOf).toList();
        case "--rounds" -> rounds = Integer.parseInt(value);
        case "--tokens" -> tokens = Integer.parseInt(value);
        case "--cold" -> cold = Integer.parseInt(value);
        case "--warm-up" -> warmUp = Integer.parseInt(value);
        case "--seconds" -> seconds = Integer.parseInt(value);
        case "--calls" -> calls = Integer.parseInt(value);
        case "--samples" -> samples = Integer.parseInt(value);
        case "--ear" -> {
          var pair = value.split("=", 2);
          ears.put(pair.length == 2 ? pair[0] : "ours", Path.of(pair[pair.length - 1]));
        }
        case "--set" -> {
          var pair = value.split("=", 2);
          settings.put(pair[0], pair[1]);
        }
        case "--pin" -> {
          own = value.split(",")[0];
          others = value.split(",")[1];
        }
        case "--without" -> {
          dynamo &= !value.equals("dynamo");
          proxy &= !value.equals("haproxy");
        }
        default ->
            throw new IllegalArgumentException("unknown option " + args[i - 1] + "\n" + USAGE);
      }
    }
    return new TokenCostOptions(
        Path.of(args[0]),
        Path.of(args[1]),
        ears,
        streams,
        rounds,
        tokens,
        cold,
        warmUp,
        seconds,
        calls,
        samples,
        dynamo,
        proxy,
        settings,
        own,
        others);
  }
}
