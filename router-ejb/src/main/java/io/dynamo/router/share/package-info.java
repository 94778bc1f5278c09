/**
 * Indexes and thresholds that routers share. Indexes: one router follows the workers' events and
 * answers, others query it for each prompt. Thresholds: those that an operator sets at one router
 * hold at all. Start at {@link io.dynamo.router.share.IndexPlane} and {@link
 * io.dynamo.router.share.SharedThresholds}. Does not depend on load or choice.
 */
@NullMarked
package io.dynamo.router.share;

import org.jspecify.annotations.NullMarked;
