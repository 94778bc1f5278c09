/**
 * Session affinity: the requests of a session go where its first request went. Start at {@link
 * io.dynamo.router.session.SessionTable}; {@link io.dynamo.router.session.SessionReplicas}
 * replicates bindings among the routers of one endpoint. Does not depend on prompts or load.
 */
@NullMarked
package io.dynamo.router.session;

import org.jspecify.annotations.NullMarked;
