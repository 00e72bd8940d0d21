#include "postgresql/private_server.hpp"

#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/eventually.hpp"
#include "support/pq_connection.hpp"

namespace rowlock::test {

namespace {

namespace fs = std::filesystem;

// Root must not run this server: for root this user does.
constexpr const char* servers_user = "postgres";

std::string parent_of_program(const fs::path& program) { return fs::exists(program) ? program.parent_path() : ""; }

// As Debian has it, for each version; the newest.
std::string debians_folder() {
  std::pair<int, std::string> newest{-1, ""};
  std::error_code none;
  for (const auto& version : fs::directory_iterator{"/usr/lib/postgresql", none})
    if (const auto found = parent_of_program(version.path() / "bin" / "initdb"); !found.empty())
      newest = std::max(newest, {std::atoi(version.path().filename().c_str()), found});
  return newest.second;
}

std::string programs_folder() {
  if (const char* given = std::getenv("ROWLOCK_TEST_POSTGRESQL_BIN")) return given;
  if (auto found = debians_folder(); !found.empty()) return found;
  const char* path = std::getenv("PATH");
  std::istringstream all{path != nullptr ? path : ""};
  for (std::string each; std::getline(all, each, ':');)
    if (auto found = parent_of_program(fs::path{each} / "initdb"); !found.empty()) return found;
  throw std::runtime_error{"PostgreSQL's initdb was not found"};
}

/// In that folder, with what it says in its file "log"; it is killed when this process ends.
pid_t spawn(const fs::path& folder, const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"setpriv", "--pdeathsig", "QUIT"};
  if (::geteuid() == 0) words.insert(words.end(), {"--reuid", servers_user, "--regid", servers_user, "--init-groups"});
  words.insert(words.end(), {"sh", "-c", R"(cd "$0" && exec "$@" >>log 2>&1 </dev/null)", folder, program});
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, "setpriv", nullptr, nullptr, argv.data(), environ) != 0)
    throw std::runtime_error{"setpriv cannot be started"};
  return pid;
}

std::string text_of(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream{file}.rdbuf();
  return out.str();
}

void make_cluster(const fs::path& folder) {
  const auto pid = spawn(
      folder, programs_folder() + "/initdb",
      {"--pgdata=data", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", "--username=rowlock", "--auth=trust"});
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || status != 0)
    throw std::runtime_error{"PostgreSQL's initdb failed: " + text_of(folder / "log")};
  std::ofstream{folder / "data" / "postgresql.conf", std::ios::app}
      << "listen_addresses = ''\nunix_socket_directories = '" << folder.string() << "'\nmax_connections = 50\n";
}

/// The fourth field, behind the name in brackets, which may have anything in it.
pid_t parent_of(pid_t pid) {
  const auto line = text_of("/proc/" + std::to_string(pid) + "/stat");
  const auto behind = line.rfind(')');
  if (behind == std::string::npos) return -1;
  std::istringstream fields{line.substr(behind + 1)};
  std::string state;
  pid_t parent = -1;
  fields >> state >> parent;
  return parent;
}

class frozen : public obstacle {
 public:
  explicit frozen(std::vector<pid_t> pids) : pids_{std::move(pids)} {}
  ~frozen() override {
    for (const auto pid : pids_) ::kill(pid, SIGCONT);
  }

 private:
  std::vector<pid_t> pids_;
};

}  // namespace

private_server::private_server() {
  if (::geteuid() == 0) {
    const auto* user = ::getpwnam(servers_user);
    if (user == nullptr || ::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0)
      throw std::runtime_error{"there is no user postgres"};
  }
  make_cluster(folder_.path());
  start();
}

private_server::~private_server() { end(SIGQUIT); }

std::string private_server::url() const {
  std::string encoded;
  for (const char c : folder_.path().string()) encoded += c == '/' ? std::string{"%2F"} : std::string{c};
  return "postgresql://rowlock@/postgres?host=" + encoded;
}

void private_server::start() {
  pid_ = spawn(folder_.path(), programs_folder() + "/postgres", {"-D", "data"});
  if (!eventually([&] { return answers(); }))
    throw std::runtime_error{"the server does not start: " + text_of(folder_ / "log")};
}

void private_server::stop() { end(SIGINT); }

void private_server::crash() { end(SIGQUIT); }

std::unique_ptr<obstacle> private_server::freeze() {
  ::kill(pid_, SIGSTOP);  // first, so that it starts no others
  ::waitpid(pid_, nullptr, WUNTRACED);
  const auto all = processes();
  for (const auto pid : all) ::kill(pid, SIGSTOP);
  return std::make_unique<frozen>(all);
}

void private_server::end(int signal) {
  if (pid_ < 0) return;
  ::kill(pid_, signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool private_server::answers() const try {
  pq_connection{url()}.run("SELECT 1");
  return true;
} catch (const std::exception&) {
  return false;
}

std::vector<pid_t> private_server::processes() const {
  std::vector<pid_t> out{pid_};
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const auto pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (pid > 0 && parent_of(pid) == pid_) out.push_back(pid);
  }
  return out;
}

}  // namespace rowlock::test
