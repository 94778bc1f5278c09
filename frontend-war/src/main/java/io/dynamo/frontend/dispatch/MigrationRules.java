package io.dynamo.frontend.dispatch;

import io.dynamo.model.ModelCard;

/**
 * When a generation may move to another worker.
 *
 * @param limit legs that may follow the first
 * @param maxTokens of prompt and answer together; a longer generation stays where it is
 */
public record MigrationRules(int limit, int maxTokens) {
  /** Without a bound of tokens. */
  public MigrationRules(int limit) {
    this(limit, Integer.MAX_VALUE);
  }

  /** These rules for one model: its own limit counts where it names one that is lower. */
  MigrationRules of(ModelCard card) {
    int own = card.migrationLimit();
    return own > 0 && own < limit ? new MigrationRules(own, maxTokens) : this;
  }
}
