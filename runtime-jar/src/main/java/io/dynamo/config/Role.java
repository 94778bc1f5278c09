package io.dynamo.config;

/** What a server plays. One process may play all. */
public enum Role {
  FRONTEND,
  ROUTER,
  WORKER
}
