#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/json_out.h"
#include "model/digest.h"
#include "model/json.h"
#include "model/manifest.h"

namespace etl::ctl {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;  // what the JSON reader takes at most

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

Result<std::string> ReadWhole(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) {
    const bool missing = errno == ENOENT;
    return Fail(missing ? Errc::kNotFound : Errc::kUnavailable, missing ? "FILE_MISSING" : "FILE_UNREADABLE",
                path, std::strerror(errno), "give the path of a JSON manifest, or - for standard input");
  }
  std::string bytes;
  std::string block(std::size_t{64} << 10, '\0');
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file.get())) {
    bytes.append(block, 0, got);
    if (bytes.size() > kFileBytesMax) {
      return Fail(Errc::kInvalid, "JSON_TOO_LARGE", path, "the file is over 256 MiB",
                  "give a single manifest");
    }
  }
  if (std::ferror(file.get()) != 0) {
    return Fail(Errc::kUnavailable, "FILE_UNREADABLE", path, std::strerror(errno),
                "give the path of a JSON manifest, or - for standard input");
  }
  return bytes;
}

struct Digested {
  Kind kind = Kind::kOperationSpec;
  Digest digest, manifest_digest;
};

Result<Digested> DigestFile(const std::string& path) {
  ETL_TRY(const std::string bytes, ReadWhole(path));
  ETL_TRY(const json::Document document, json::Document::Parse(bytes));
  ETL_TRY(const Manifest manifest, ReadManifest(document.root()));
  return Digested{manifest.kind(), DigestOf(manifest.spec), ManifestDigest(manifest)};
}

// Every fault of a file; an unreadable file is one fault.
std::vector<Error> FaultsOf(const std::string& path) {
  const auto bytes = ReadWhole(path);
  if (!bytes) return {bytes.error()};
  const auto document = json::Document::Parse(*bytes);
  if (!document) return {document.error()};
  return CheckManifest(document->root());
}

// The file in front of the place in it, so that the line says both.
Error InFile(const std::string& path, Error error) {
  if (error.where != path) error.where = error.where.empty() ? path : path + " " + error.where;
  return error;
}

}  // namespace

Result<Exit> DigestFiles(Output& out, const FileOptions& options) {
  ListWriter list(out, "files", {{"DIGEST"}, {"MANIFEST DIGEST"}, {"KIND"}, {"FILE"}});
  Exit exit = Exit::kDone;
  for (const std::string& path : options.files) {
    auto digested = DigestFile(path);
    if (!digested) {
      const Error error = InFile(path, std::move(digested).error());
      Report(out, error);
      if (exit == Exit::kDone) exit = ExitFor(error);
      continue;
    }
    const std::string json = JsonObject()
                                 .Text("file", path)
                                 .Text("kind", KindName(digested->kind))
                                 .Text("digest", digested->digest)
                                 .Text("manifestDigest", digested->manifest_digest)
                                 .Done();
    list.Add(json, {digested->digest.Text(), digested->manifest_digest.Text(),
                    std::string(KindName(digested->kind)), path});
  }
  list.Finish("", "");
  return exit;
}

Result<Exit> ValidateFiles(Output& out, const FileOptions& options) {
  ListWriter list(out, "files", {});
  bool all_valid = true;
  for (const std::string& path : options.files) {
    const std::vector<Error> faults = FaultsOf(path);
    all_valid = all_valid && faults.empty();
    if (out.json()) {
      std::vector<std::string> parts;
      for (const Error& fault : faults) parts.push_back(FaultJson(fault));
      list.Add(JsonObject()
                   .Text("file", path)
                   .Bool("valid", faults.empty())
                   .Raw("faults", JsonArray(parts))
                   .Done(),
               {});
      continue;
    }
    if (faults.empty()) out.DataLine(Safe(path) + ": " + out.Styled("valid", Style::kGood));
    for (const Error& fault : faults) {
      out.DataLine(Safe(path) + ": " + Safe(fault.where) + ": " + out.Styled(fault.code, Style::kBad) + ": " +
                   Safe(fault.what) + (fault.fix.empty() ? "" : " (" + Safe(fault.fix) + ")"));
    }
  }
  if (out.json()) list.Finish("", "");
  return all_valid ? Exit::kDone : Exit::kFailed;
}

}  // namespace etl::ctl
