package io.dynamo.frontend.responses;

import java.util.List;

/** The result of loading a conversation with its items. */
public sealed interface LoadedConversation {
  /**
   * Found whole.
   *
   * @param turns the oldest first
   */
  record Complete(Conversation conversation, List<ConversationTurn> turns)
      implements LoadedConversation {
    public Complete {
      turns = List.copyOf(turns);
    }
  }

  /** It never was, was deleted, or was not used for too long. */
  record Missing() implements LoadedConversation {}

  /** It has more bytes than the caller accepts. */
  record TooLong() implements LoadedConversation {}
}
