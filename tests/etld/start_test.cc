// What keeps etld from starting: one clear line each, and the exit status.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/visit.h"
#include "store/store.h"
#include "tests/support/etld_process.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

namespace fs = std::filesystem;
using test::EtldProcess;
using test::EtldSettings;
using ::testing::HasSubstr;

// A UNIX socket at this path; -1 where it cannot be.
int Bound(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(fd, reinterpret_cast<struct sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

class Start : public testing::Test {
 protected:
  // Runs etld until it ends by itself.
  int Run(const std::string& settings, std::vector<std::string> arguments = {}) {
    test::EtldOptions options;
    options.program = ETLD_PATH;
    options.dir = dir_.path();
    options.settings = settings;
    options.arguments = std::move(arguments);
    EtldProcess daemon(std::move(options));
    const int exit = daemon.Wait();
    log_ = daemon.Log();
    return exit;
  }
  std::string Settings(const std::string& more = {}) const {
    return EtldSettings(dir_.path(), "http://127.0.0.1:9", more);
  }
  std::string With(const std::string& part, const std::string& instead) const {
    std::string settings = Settings();
    const auto at = settings.find(part);
    return settings.replace(at, part.size(), instead);
  }
  test::TempDir dir_{"start"};
  std::string log_;
};

TEST_F(Start, IsRefusedWithTheFixWhereTheSettingsAreWrong) {
  const struct {
    std::string settings;
    const char *code, *says;
  } cases[] = {
      {Settings("intervall_min_s = 1\n"), "CONFIG_UNKNOWN_KEY", "interval_min_s"},
      {Settings("[polll]\n"), "CONFIG_UNKNOWN_KEY", "poll"},
      {Settings("[source.sol-exec]\n"), "sol-exec", "sol-execbench"},
      {Settings("[log]\nlevel = \"loud\"\n"), "CONFIG_VALUE", "trace"},
      {Settings("[generations]\nkeep = 0\n"), "CONFIG_RANGE", "keep"},
      {Settings("= 3\n"), "CONFIG_SYNTAX", "etld.toml:"},
      {With("http://127.0.0.1:9", "http://example.org"), "CONFIG_VALUE", "https"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Run(c.settings), 2) << c.code;
    EXPECT_THAT(log_, HasSubstr(c.code));
    EXPECT_THAT(log_, HasSubstr(c.says));
    EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1) << "one line: " << log_;
    EXPECT_EQ(Run(c.settings, {"--check"}), 2) << c.code;
    fs::remove(dir_.File("log"));
  }
  EXPECT_FALSE(fs::exists(dir_.File("store"))) << "nothing is made before the settings are right";
}

TEST_F(Start, IsRefusedWhereTheNamedFileIsMissing) {
  EXPECT_EQ(Run(""), 2);
  EXPECT_THAT(log_, HasSubstr("CONFIG_MISSING"));
}

TEST_F(Start, ChecksSettingsWithoutTouchingAnything) {
  EXPECT_EQ(Run(Settings(), {"--check"}), 0) << log_;
  EXPECT_FALSE(fs::exists(dir_.File("store")));
}

TEST_F(Start, IsRefusedWhereTheStoreCannotBe) {
  std::ofstream(dir_.File("store")) << "a file";
  EXPECT_EQ(Run(Settings()), 1) << log_;
  EXPECT_THAT(log_, HasSubstr(dir_.File("store")));
  EXPECT_THAT(log_, HasSubstr("check the path and its permissions"));
}

TEST_F(Start, IsRefusedWhereTheControlSocketCannotBe) {
  EXPECT_EQ(Run(With(dir_.File("control"), dir_.File("no/such/folder"))), 1) << log_;
  EXPECT_THAT(log_, HasSubstr("CONTROL_SOCKET"));
}

TEST_F(Start, IsRefusedWhereAnotherAnswersOnTheControlSocket) {
  const std::string path = dir_.File("control");
  const int fd = Bound(path);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  EXPECT_EQ(Run(Settings()), 5) << log_;
  EXPECT_THAT(log_, HasSubstr("CONTROL_IN_USE"));
  EXPECT_TRUE(fs::exists(path)) << "it is not taken away from its owner";
  ::close(fd);
}

TEST_F(Start, IsRefusedByADamagedStoreWithAnExitStatusThatIsNotTriedAgain) {
  {
    SystemClock clock;
    Store::Options options;
    options.mode = Store::Mode::kWrite;
    options.create = true;
    const auto store = Store::Open(dir_.File("store"), options, clock);
    ASSERT_TRUE(store) << store.error().Message();
    ASSERT_TRUE((*store)->Close());
  }
  std::ofstream(dir_.File("store/db/CURRENT")) << "MANIFEST-999999\n";
  EXPECT_EQ(Run(Settings()), 6) << log_;
  EXPECT_THAT(log_, HasSubstr("STORE_DAMAGED"));
}

TEST_F(Start, ReplacesTheSocketThatADeadDaemonLeft) {
  const std::string path = dir_.File("control");
  {
    const int fd = Bound(path);
    ASSERT_GE(fd, 0);
    ::close(fd);
  }
  test::EtldOptions options;
  options.program = ETLD_PATH;
  options.dir = dir_.path();
  options.settings = Settings();
  EtldProcess daemon(std::move(options));
  ASSERT_TRUE(daemon.Notified("READY=1")) << daemon.Log();
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait(), 0);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Start, OfTheProgramAnswersItsOwnQuestions) {
  EXPECT_EQ(Run(Settings(), {"--version"}), 0);
  EXPECT_THAT(log_, HasSubstr("etld "));
  EXPECT_EQ(Run(Settings(), {"--help"}), 0);
  EXPECT_THAT(log_, HasSubstr("--config"));
  EXPECT_EQ(Run(Settings(), {"--frobnicate"}), 2);
}

}  // namespace
}  // namespace etl
