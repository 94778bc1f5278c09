package io.dynamo.worker.engine.remote;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A recorded request to a server, and its answer. Arrays are owned by the record.
 *
 * @param request the request's body
 * @param status status of the answer
 * @param answer body of the answer, as sent
 */
public record Recording(byte[] request, int status, byte[] answer) {
  private static final Path GOLDEN = Path.of("src/test/resources/golden");

  /** Returns a recorded file below the folder of all recordings. */
  public static byte[] file(String name) {
    try {
      return Files.readAllBytes(GOLDEN.resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a file of request line, body, blank line, status line and answer. */
  public static Recording of(String name) {
    var bytes = file(name);
    int body = after(bytes, 0);
    int bodyEnd = after(bytes, body);
    int status = after(bytes, bodyEnd); // a blank line is between them
    int answer = after(bytes, status);
    var head = new String(bytes, status, answer - status, StandardCharsets.UTF_8);
    return new Recording(
        Arrays.copyOfRange(bytes, body, bodyEnd - 1),
        Integer.parseInt(head.substring(0, head.indexOf(' '))),
        Arrays.copyOfRange(bytes, answer, bytes.length));
  }

  private static int after(byte[] bytes, int from) {
    int at = from;
    while (bytes[at] != '\n') {
      at++;
    }
    return at + 1;
  }
}
