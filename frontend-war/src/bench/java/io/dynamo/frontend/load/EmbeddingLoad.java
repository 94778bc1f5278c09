package io.dynamo.frontend.load;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Asks several frontends in turn for the embeddings of short texts, by clients that each send one
 * request after the other, and prints requests per second of each round and the medians. The
 * frontends stand before the same workers, which must be faster than they are.
 *
 * <p>{@code java frontend-war/src/bench/java/io/dynamo/frontend/load/EmbeddingLoad.java MODEL
 * ROUNDS SECONDS CLIENTS TEXTS FORMAT NAME=PORT...}
 */
public final class EmbeddingLoad {
  private static final int BODIES = 64; // different ones, so that no cache of texts has them all
  private static final String[] WORDS =
      "the router picks a worker that holds most of the prompt and the worker makes tokens"
          .split(" ");

  private final int clients;
  private final List<byte[]> requests;

  private EmbeddingLoad(int clients, List<byte[]> requests) {
    this.clients = clients;
    this.requests = requests;
  }

  /** A frontend and what it has answered per second, by round. */
  private record Frontend(String name, int port, List<Double> rates) {
    static Frontend of(String argument) {
      var parts = argument.split("=");
      return new Frontend(parts[0], Integer.parseInt(parts[1]), new ArrayList<>());
    }

    double median() {
      var sorted = rates.stream().sorted().toList();
      return sorted.get(sorted.size() / 2);
    }
  }

  public static void main(String[] args) throws Exception {
    if (args.length < 7) {
      System.err.println(
          "usage: EmbeddingLoad MODEL ROUNDS SECONDS CLIENTS TEXTS float|base64 NAME=PORT...");
      System.exit(2);
    }
    int rounds = Integer.parseInt(args[1]);
    var time = Duration.ofSeconds(Long.parseLong(args[2]));
    var load =
        new EmbeddingLoad(
            Integer.parseInt(args[3]), requests(args[0], Integer.parseInt(args[4]), args[5]));
    var frontends = Arrays.stream(args).skip(6).map(Frontend::of).toList();
    for (int round = -1; round < rounds; round++) { // the first warms up and does not count
      for (var frontend : frontends) {
        double rate = load.measure(frontend.port(), time);
        System.out.printf("round %d, %s: %.1f requests/s%n", round, frontend.name(), rate);
        if (round >= 0) {
          frontend.rates().add(rate);
        }
      }
    }
    for (var frontend : frontends) {
      System.out.printf("%s: median %.1f requests/s%n", frontend.name(), frontend.median());
    }
  }

  private static List<byte[]> requests(String model, int texts, String format) throws IOException {
    var random = new Random(7);
    var requests = new ArrayList<byte[]>();
    for (int i = 0; i < BODIES; i++) {
      var inputs =
          IntStream.range(0, texts)
              .mapToObj(_ -> '"' + text(random) + '"')
              .collect(Collectors.joining(","));
      var body =
          "{\"model\":\"%s\",\"encoding_format\":\"%s\",\"input\":[%s]}"
              .formatted(model, format, inputs)
              .getBytes(StandardCharsets.UTF_8);
      var request = new ByteArrayOutputStream();
      request.write(
          "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
              .formatted(body.length)
              .getBytes(StandardCharsets.US_ASCII));
      request.write(body);
      requests.add(request.toByteArray());
    }
    return requests;
  }

  private static String text(Random random) {
    return IntStream.range(0, 4 + random.nextInt(8))
        .mapToObj(_ -> WORDS[random.nextInt(WORDS.length)])
        .collect(Collectors.joining(" "));
  }

  /** Returns the answers per second of a frontend. */
  private double measure(int port, Duration time) throws Exception {
    long begun = System.nanoTime();
    long until = begun + time.toNanos();
    long answers = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(clients)) {
      var counts = new ArrayList<Future<Long>>();
      for (int i = 0; i < clients; i++) {
        int first = i;
        Callable<Long> client = () -> ask(port, first, until);
        counts.add(threads.submit(client));
      }
      for (var count : counts) {
        answers += count.get();
      }
    }
    return answers * 1e9 / (System.nanoTime() - begun);
  }

  private long ask(int port, int first, long until) throws IOException {
    long answers = 0;
    try (var connection = new Connection(port, TextApi.CHAT, new Figures())) {
      while (System.nanoTime() - until < 0) {
        var request = requests.get((int) ((first + answers) % requests.size()));
        var answer = connection.ask(request, System.nanoTime());
        if (answer.refused()) {
          throw new IOException("refused: fewer clients, or more room");
        }
        answers++;
      }
    }
    return answers;
  }
}
