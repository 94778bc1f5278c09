package io.dynamo.transfer.jni;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.UcxMode;
import io.dynamo.config.plane.UcxSettings;
import io.dynamo.json.Json;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.RegionExchange.Export;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;

/**
 * The other process of {@link UcxProcessTest}: obeys one word per line, and answers each with a
 * line. It ends with its standard input. Its argument is where the library is.
 */
final class UcxPeer {
  static final int SIZE = 64 << 20;

  private UcxPeer() {}

  public static void main(String... arguments) throws Exception {
    var library = new UcxLibrary(new UcxSettings(UcxMode.ALWAYS, Path.of(arguments[0])));
    var exports = new ArrayDeque<Export>();
    try (var loops = new EventLoops(1);
        var memory = new NativeHostMemory();
        var exchange = UcxPath.exchange(memory, loops, library, new Metrics());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var region = memory.allocate(SIZE)) {
      for (var line = in.readLine(); line != null; line = in.readLine()) {
        var words = List.of(line.split(" ", 2));
        System.out.println(
            PeerProcess.ANSWER
                + switch (words.getFirst()) {
                  case "lend" -> {
                    exports.push(exchange.export(region, Duration.ofMinutes(5)));
                    var address = exports.element().address();
                    yield new String(Json.write(address.toMembers()), StandardCharsets.UTF_8);
                  }
                  case "end" -> {
                    exports.pop().close();
                    yield String.valueOf(region.crc32c(0, SIZE));
                  }
                  case "crc" -> String.valueOf(region.crc32c(0, SIZE));
                  case "write" -> {
                    region.write(0, ByteBuffer.wrap(SharedMemoryPeer.filled(SIZE, (byte) 7)));
                    var to = SharedMemoryPeer.address(words.get(1));
                    var soon = Deadline.after(Duration.ofSeconds(20));
                    yield String.valueOf(exchange.write(region, SIZE, to, soon).await(soon));
                  }
                  default -> throw new IllegalArgumentException(line);
                });
        System.out.flush();
      }
    }
  }
}
