package io.dynamo.worker.serve;

import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.MessageCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The request that health probes send to an engine. Immutable. */
public final class HealthPayload {
  private static final String FILE = "@";

  private final @Nullable GenerateRequest given;

  private HealthPayload(@Nullable GenerateRequest given) {
    this.given = given;
  }

  /** Returns the smallest request that an engine can serve: one token after a prompt of one. */
  public static HealthPayload standard() {
    return new HealthPayload(null);
  }

  /**
   * Reads an operator's request.
   *
   * @param text JSON in the form of requests to {@code generate}, or {@code @} and a file that
   *     contains it
   * @throws io.dynamo.error.InvalidRequestException when it is no such request
   * @throws UncheckedIOException when the file cannot be read
   */
  public static HealthPayload of(String text, MessageCodec<GenerateRequest, ?> codec) {
    var json =
        text.startsWith(FILE)
            ? read(Path.of(text.substring(FILE.length())))
            : text.getBytes(StandardCharsets.UTF_8);
    return new HealthPayload(codec.decodeRequest(ByteBuffer.wrap(json), PayloadFormat.JSON));
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the health payload " + file, e);
    }
  }

  /**
   * Returns the next probe.
   *
   * @param model the model name that clients use; for a request without one
   * @param rank the rank to probe; null for the request's own, or any
   */
  public GenerateRequest ask(String model, @Nullable Integer rank) {
    var request = given == null || given.model().isEmpty() ? named(model) : given;
    return rank == null
        ? request
        : request.routedTo(new RoutingHints(rank, request.routing().passedOn()));
  }

  private GenerateRequest named(String model) {
    if (given == null) {
      return new GenerateRequest(
          model,
          new int[] {1},
          new StopConditions(1, List.of(), List.of(), null, true),
          SamplingOptions.DEFAULTS,
          OutputOptions.DEFAULTS,
          new int[0],
          null,
          List.of(),
          RoutingHints.NONE,
          Map.of());
    }
    return new GenerateRequest(
        model,
        given.tokenIds(),
        given.stop(),
        given.sampling(),
        given.output(),
        given.eosTokenIds(),
        given.cardChecksum(),
        given.annotations(),
        given.routing(),
        given.extraArgs(),
        given.handoff(),
        given.passedOn());
  }
}
