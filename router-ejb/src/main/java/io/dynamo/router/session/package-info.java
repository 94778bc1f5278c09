/**
 * Sessions whose requests go where the first of them went. Start at {@link
 * io.dynamo.router.session.SessionTable}; {@link io.dynamo.router.session.SessionReplicas} lets the
 * routers of one endpoint know each other's. Knows nothing of prompts and load.
 */
@NullMarked
package io.dynamo.router.session;

import org.jspecify.annotations.NullMarked;
