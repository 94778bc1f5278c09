package io.dynamo.config.frontend;

/**
 * The conversations that the frontend keeps; those that were not used for longest are deleted
 * first.
 *
 * @param maxConversations kept at most
 * @param maxBytes of all that are kept
 */
public record ConversationBounds(int maxConversations, long maxBytes) {}
