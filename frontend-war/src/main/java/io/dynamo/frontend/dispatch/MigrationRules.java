package io.dynamo.frontend.dispatch;

import io.dynamo.model.ModelCard;

/**
 * The conditions under which a generation may migrate to another worker.
 *
 * @param limit legs that may follow the first
 * @param maxTokens of prompt and answer together; a longer generation does not migrate
 */
public record MigrationRules(int limit, int maxTokens) {
  /** Rules without a bound of tokens. */
  public MigrationRules(int limit) {
    this(limit, Integer.MAX_VALUE);
  }

  /** Returns these rules for one model: the model's own limit counts if it is lower. */
  MigrationRules of(ModelCard card) {
    int own = card.migrationLimit();
    return own > 0 && own < limit ? new MigrationRules(own, maxTokens) : this;
  }
}
