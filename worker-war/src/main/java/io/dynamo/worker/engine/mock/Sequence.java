package io.dynamo.worker.engine.mock;

import java.util.Arrays;

/**
 * The scheduler's view of one text: its tokens, and how many of them have keys and values. Used by
 * the rank's thread only.
 *
 * <p>Invariant: {@code computed <= length}; the newest token is computed by the pass that makes the
 * next one.
 */
abstract class Sequence {
  final int promptTokens;
  final SequenceBlocks blocks;
  private int[] tokens; // the prompt, then generated tokens
  private int length;
  int computed; // set by the scheduler, like the next ones
  int passTokens; // computed in the current pass
  int passPrompt; // prompt tokens among passTokens
  int passBefore; // tokens of the prompt that had keys before the pass
  boolean firstByPrefill; // the pass that computes the prompt's end makes the first token
  int admissions;
  int reused; // tokens found in the cache, at the first admission
  int mostReused; // the most tokens found at any admission

  Sequence(int[] prompt, int mostTokens, SequenceBlocks blocks) {
    this.promptTokens = prompt.length;
    this.length = prompt.length;
    this.tokens = Arrays.copyOf(prompt, mostTokens);
    this.blocks = blocks;
  }

  /** Whether the stream can take a token now. */
  abstract boolean hasRoom();

  final int[] tokens() {
    return tokens;
  }

  final int length() {
    return length;
  }

  final int generated() {
    return length - promptTokens;
  }

  final int lastToken() {
    return tokens[length - 1];
  }

  final boolean isFull() {
    return length == tokens.length;
  }

  final void append(int token) {
    tokens[length++] = token;
  }

  /** Whether the next token can be drawn. */
  final boolean isReady() {
    return computed >= length;
  }
}
