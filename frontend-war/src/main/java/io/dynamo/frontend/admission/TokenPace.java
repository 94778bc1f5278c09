package io.dynamo.frontend.admission;

/** Told how fast the tokens of a request come, on the thread that serves it. */
public interface TokenPace {
  /** Tells nobody. */
  TokenPace UNWATCHED =
      new TokenPace() {
        @Override
        public void firstToken(int choice, double seconds, int promptTokens) {}

        @Override
        public void nextToken(int choice, double seconds) {}
      };

  /**
   * The first token of all choices has come.
   *
   * @param seconds since the request
   * @param promptTokens of all prompts together
   */
  void firstToken(int choice, double seconds, int promptTokens);

  /**
   * A choice has more tokens.
   *
   * @param seconds since those before them, for each of them
   */
  void nextToken(int choice, double seconds);
}
