// What a program was built from, for `reprise compare` to find in its file.

namespace reprise {

extern const char sources[];

[[gnu::used]] const char sources[] = "reprise baseline sources " REPRISE_SOURCES;

} // namespace reprise
