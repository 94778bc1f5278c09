package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.openai.wire.ChunkFormat;
import io.dynamo.frontend.openai.wire.LogprobsText;
import io.dynamo.frontend.openai.wire.MessageDelta;
import io.dynamo.frontend.openai.wire.StreamOptions;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.FrameEncoder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The frames of one streamed answer. For one thread. */
final class ChunkEncoder implements FrameEncoder<ChoiceDelta> {
  private final ChunkFormat format;
  private final Choices choices;
  private final StreamOptions options;
  private final List<String> openings; // text before each choice, empty for most
  private final List<LogprobsText> logprobs; // of each choice; empty when none were asked for
  private final @Nullable NvextText nvext;
  private final @Nullable DispatchEncoder dispatches;
  private @Nullable ByteText prelude;
  private final boolean[] begun;

  /**
   * @param choices whose deltas are encoded; asked for the usage
   * @param openings text that comes before each choice's own
   * @param logprobs one for each choice, or none at all
   * @param nvext null when the client asked for nothing of it
   * @param dispatches writes the events beside the chunks; null for none
   * @param prelude frames that come first, null for none
   */
  ChunkEncoder(
      ChunkFormat format,
      Choices choices,
      StreamOptions options,
      List<String> openings,
      List<LogprobsText> logprobs,
      @Nullable NvextText nvext,
      @Nullable DispatchEncoder dispatches,
      @Nullable ByteText prelude) {
    this.format = format;
    this.choices = choices;
    this.options = options;
    this.openings = openings;
    this.logprobs = logprobs;
    this.nvext = nvext;
    this.dispatches = dispatches;
    this.prelude = prelude;
    this.begun = new boolean[openings.size()];
  }

  @Override
  public void item(ChoiceDelta delta, ByteText frames) {
    begin(frames);
    var item = delta.item();
    if (item != null && item.annotation() != null) {
      Annotations.append(item.annotation(), frames);
      return;
    }
    if (dispatches != null) {
      dispatches.append(delta, frames);
    }
    int choice = delta.choice();
    var probabilities = probabilities(delta);
    boolean first = !begun[choice];
    var text = first ? openings.get(choice) + delta.text() : delta.text();
    var pieces = delta.pieces();
    boolean silent = pieces == null ? text.isEmpty() : pieces.isEmpty();
    var extension = nvext == null ? null : nvext.chunk(delta);
    if (!first
        && silent
        && delta.finish() == null
        && (probabilities == null || probabilities.isEmpty())
        && (nvext == null || !nvext.isWorthAChunk(delta))) {
      return;
    }
    var running = options.continuousUsage() ? choices.usage() : null;
    if (pieces == null) {
      format.chunk(frames, choice, text, first, delta.finish(), probabilities, running, extension);
    } else {
      var parts = MessageDelta.split(pieces, delta.called());
      for (int i = 0; i < parts.size() - 1; i++) {
        format.chunk(frames, choice, parts.get(i), first && i == 0, null, null, running, null);
      }
      format.chunk(
          frames,
          choice,
          parts.getLast(),
          first && parts.size() == 1,
          delta.finish(),
          probabilities,
          running,
          extension);
    }
    begun[choice] = true;
    if (probabilities != null) {
      probabilities.clear();
    }
  }

  private @Nullable LogprobsText probabilities(ChoiceDelta delta) {
    if (logprobs.isEmpty()) {
      return null;
    }
    var own = logprobs.get(delta.choice());
    var item = delta.item();
    if (item != null && item.logprobs() != null) {
      own.add(item.tokenIds(), delta.tokens(), item.logprobs());
    }
    return own;
  }

  @Override
  public void end(ByteText frames) {
    begin(frames);
    if (options.usage() && choices.hasReason()) {
      format.usage(frames, choices.usage());
    }
    ChunkFormat.done(frames);
  }

  @Override
  public void failure(DynamoException cause, ByteText frames) {
    begin(frames);
    choices.errorFor(cause).appendFrame(frames);
    ChunkFormat.done(frames);
  }

  private void begin(ByteText frames) {
    if (prelude != null) {
      frames.append(prelude);
      prelude = null;
    }
  }
}
