/**
 * How many requests are let in, in which order, and their account: each is counted once. Start at
 * {@link io.dynamo.frontend.admission.RequestAdmission}. Locks: a gate's and the admission's are
 * never held together; no request waits for anything else while it holds one.
 */
@NullMarked
package io.dynamo.frontend.admission;

import org.jspecify.annotations.NullMarked;
