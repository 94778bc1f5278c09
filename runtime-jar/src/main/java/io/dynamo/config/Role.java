package io.dynamo.config;

/** A part that a server plays. One process may play all. */
public enum Role {
  FRONTEND,
  ROUTER,
  WORKER
}
