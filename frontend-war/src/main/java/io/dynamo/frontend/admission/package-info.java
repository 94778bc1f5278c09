/**
 * How many requests are let in, and their account: each is counted once. Start at {@link
 * io.dynamo.frontend.admission.Admission}.
 */
@NullMarked
package io.dynamo.frontend.admission;

import org.jspecify.annotations.NullMarked;
