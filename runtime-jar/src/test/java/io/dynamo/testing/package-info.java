/** Fakes and fixtures that the tests of every module share. */
@NullMarked
package io.dynamo.testing;

import org.jspecify.annotations.NullMarked;
