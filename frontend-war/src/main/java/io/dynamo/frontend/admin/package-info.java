/** Settings that operators change while the server runs. */
@NullMarked
package io.dynamo.frontend.admin;

import org.jspecify.annotations.NullMarked;
