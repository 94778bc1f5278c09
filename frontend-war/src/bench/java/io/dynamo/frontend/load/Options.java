package io.dynamo.frontend.load;

import java.util.ArrayList;
import java.util.List;

/**
 * The options of a load on a frontend.
 *
 * @param clients connections that each send one request after the other; 0 with a rate
 * @param rate requests per second, sent on time whether or not the ones before have ended; 0 with
 *     clients
 * @param stream whether answers are streamed
 * @param tokens of each answer
 * @param words of each prompt
 * @param turns requests of one growing chat; 1 sends a new prompt each time
 * @param processes whose CPU time, memory and allocation are printed
 */
record Options(
    int port,
    String model,
    TextApi api,
    int clients,
    double rate,
    boolean stream,
    int tokens,
    int words,
    int turns,
    double warmupSeconds,
    double seconds,
    List<Long> processes) {

  static final String USAGE =
      """
      usage: java frontend-war/src/bench/java/io/dynamo/frontend/load/FrontendLoad.java [options]
        --port 8000        the frontend, on this machine
        --model tiny       as the frontend lists it
        --api chat         or responses, or messages
        --clients 64       closed loop: so many connections, each one request after the other
        --rate 0           open loop instead: requests per second, sent on time, latencies from the time they were due
        --stream true      server-sent events, or false for whole answers
        --tokens 64        of each answer
        --words 12         of each prompt
        --turns 1          requests of one growing chat before a new one begins
        --warmup 5         seconds that are not counted
        --seconds 10       that are
        --pid ID           a process to watch; may be given again
      """;

  /** Streams of {@code tokens} each, as many as there are clients. */
  static Options streams(int port, int clients, int tokens) {
    return new Options(
        port, "tiny", TextApi.CHAT, clients, 0, true, tokens, 12, 1, 0, 0, List.of());
  }

  static Options parse(String[] args) {
    int port = 8000;
    var model = "tiny";
    var api = TextApi.CHAT;
    int clients = 64;
    double rate = 0;
    boolean stream = true;
    int tokens = 64;
    int words = 12;
    int turns = 1;
    double warmup = 5;
    double seconds = 10;
    var processes = new ArrayList<Long>();
    for (int i = 0; i < args.length; i += 2) {
      if (i + 1 == args.length) {
        throw new IllegalArgumentException(args[i] + " needs a value\n" + USAGE);
      }
      var value = args[i + 1];
      switch (args[i]) {
        case "--port" -> port = Integer.parseInt(value);
        case "--model" -> model = value;
        case "--api" -> api = TextApi.of(value);
        case "--clients" -> clients = Integer.parseInt(value);
        case "--rate" -> rate = Double.parseDouble(value);
        case "--stream" -> stream = Boolean.parseBoolean(value);
        case "--tokens" -> tokens = Integer.parseInt(value);
        case "--words" -> words = Integer.parseInt(value);
        case "--turns" -> turns = Integer.parseInt(value);
        case "--warmup" -> warmup = Double.parseDouble(value);
        case "--seconds" -> seconds = Double.parseDouble(value);
        case "--pid" -> processes.add(Long.parseLong(value));
        default -> throw new IllegalArgumentException("unknown option " + args[i] + "\n" + USAGE);
      }
    }
    return new Options(
        port,
        model,
        api,
        clients,
        rate,
        stream,
        tokens,
        words,
        turns,
        warmup,
        seconds,
        List.copyOf(processes));
  }
}
