package io.dynamo.frontend.admission;

/** Gets the times between the tokens of a request. Called on the thread that serves it. */
public interface TokenPace {
  /** Ignores all calls. */
  TokenPace UNWATCHED =
      new TokenPace() {
        @Override
        public void firstToken(int choice, double seconds, int promptTokens) {}

        @Override
        public void nextToken(int choice, double seconds) {}
      };

  /**
   * Called for the first token of all choices.
   *
   * @param seconds from the request's arrival to the token
   * @param promptTokens of all prompts together
   */
  void firstToken(int choice, double seconds, int promptTokens);

  /**
   * Called for later tokens of a choice.
   *
   * @param seconds for each token, since the one before it
   */
  void nextToken(int choice, double seconds);
}
