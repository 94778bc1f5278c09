/**
 * Indexes that routers share: one router follows the workers' events and answers, others query it
 * for each prompt. Start at {@link io.dynamo.router.share.IndexPlane}. Does not depend on load or
 * choice.
 */
@NullMarked
package io.dynamo.router.share;

import org.jspecify.annotations.NullMarked;
