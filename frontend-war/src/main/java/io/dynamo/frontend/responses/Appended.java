package io.dynamo.frontend.responses;

/** The result of adding items to a conversation. */
public enum Appended {
  DONE,
  NO_CONVERSATION,
  TOO_LONG
}
