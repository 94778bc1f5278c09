/** Tests of requests and their parts. */
@NullMarked
package io.dynamo.inference;

import org.jspecify.annotations.NullMarked;
