package io.dynamo.frontend.dispatch;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a generation over all its legs: the tokens that its client has, and the request
 * for the next leg that follows from them. Written by the current leg; legs hand over safely.
 */
final class Progress {
  private final GenerateRequest request;
  private final MigrationRules rules;
  private final TokenLog delivered = new TokenLog();
  private int losses; // losses that a next leg may continue
  private int takenUp; // losses that a leg has continued
  private @Nullable Integer cachedTokens;
  private boolean finished;

  Progress(GenerateRequest request, MigrationRules rules) {
    this.request = request;
    this.rules = rules;
  }

  /** Notes that an item is delivered to the client. */
  void delivers(EngineOutput item) {
    delivered.append(item.tokenIds());
    if (item.finishReason() != null) {
      finished = true;
    }
  }

  /** Returns the number of tokens that the client has. */
  int tokens() {
    return delivered.size();
  }

  /** Whether the client has the item with the finish reason. */
  boolean isFinished() {
    return finished;
  }

  /** Returns the request for the next leg: the tokens so far are prompt, and off the budget. */
  GenerateRequest rest() {
    return delivered.size() == 0 ? request : request.continuedBy(delivered.toArray());
  }

  /** Whether the rules let another worker continue. */
  boolean mayMove() {
    return losses < rules.limit() && request.mayMoveAfter(delivered.size());
  }

  /** Whether the generation has become too long to migrate. */
  boolean isTooLong() {
    return request.tokenIds().length + delivered.size() > rules.maxTokens();
  }

  /** Notes the loss of a leg that another is to continue. */
  void lost() {
    losses++;
  }

  /** Notes the start of a leg. Returns whether it continues a lost one. */
  boolean takesUp() {
    boolean moved = losses > takenUp;
    takenUp = losses;
    return moved;
  }

  /**
   * Returns the finish reason of a generation whose last item was lost although the lost worker had
   * sent every token; null when tokens are missing.
   */
  @Nullable FinishReason impliedFinishReason() {
    int tokens = delivered.size();
    if (tokens == 0) {
      return null;
    }
    var budget = request.stop().maxTokens();
    if (budget != null && tokens >= budget) {
      return FinishReason.LENGTH;
    }
    var least = request.stop().minTokens();
    if (least != null && tokens <= least) { // the stop id does not count among them
      return null;
    }
    int last = delivered.last();
    if (request.stop().stopTokenIds().contains(last)
        || request.stop().visibleStopTokenIds().contains(last)) {
      return FinishReason.STOP;
    }
    return request.stop().ignoreEos() || !isEos(last) ? null : FinishReason.EOS;
  }

  private boolean isEos(int token) {
    for (int eos : request.eosTokenIds()) {
      if (eos == token) {
        return true;
      }
    }
    return false;
  }

  /**
   * Replaces the usage of a later leg by that of the whole generation: the client's prompt and all
   * tokens so far.
   */
  EngineOutput counted(EngineOutput item) {
    var usage = item.usage();
    if (usage == null && (losses == 0 || item.finishReason() == null)) {
      return item;
    }
    if (usage != null && cachedTokens == null) {
      cachedTokens = usage.cachedTokens();
    }
    return losses == 0
        ? item
        : item.withUsage(new Usage(request.tokenIds().length, delivered.size(), cachedTokens));
  }
}
