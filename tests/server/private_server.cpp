#include "server/private_server.hpp"

#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <stdexcept>
#include <utility>

#include "support/loopback.hpp"
#include "support/program.hpp"
#include "testkit/child.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

namespace fs = std::filesystem;

const passwd& entry_of(const std::string& user) {
  const auto* const found = ::getpwnam(user.c_str());
  if (found == nullptr) throw std::runtime_error{"there is no user " + user};
  return *found;
}

bool is_free(std::uint16_t port) {
  const auto socket = tcp_socket();
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const auto address = loopback(port);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

private_server::private_server(const char* user, int stop_signal, int crash_signal, const fake_machine* machine)
    : user_{user}, stop_signal_{stop_signal}, crash_signal_{crash_signal}, machine_{machine} {
  if (::geteuid() != 0) return;
  const auto& entry = entry_of(user_);
  if (::chown(folder().c_str(), entry.pw_uid, entry.pw_gid) != 0)
    throw std::runtime_error{"a folder cannot be given to the user " + user_};
}

void private_server::start() {
  words all;
  if (machine_ != nullptr) {
    all = machine_->environment();
    all.insert(all.begin(), "env");
  }
  const auto server = command();
  all.insert(all.end(), server.begin(), server.end());
  pid_ = spawn(all);
  // On a busy machine that takes as long as it takes: it is given up when it has said nothing new for so long.
  bool is_over = false;
  std::string said;
  while (!eventually([&] { return (is_over = has_ended()) || answers(); }) || is_over) {
    const auto before = std::exchange(said, contents_of(folder() / "log"));
    if (is_over || said == before) throw std::runtime_error{"the server does not start: " + said};
  }
}

void private_server::take_data_of(const private_server& other) const {
  fs::remove_all(folder() / "data");
  run({"cp", "-a", (other.folder() / "data").string(), "data"});
}

std::unique_ptr<obstacle> private_server::freeze() {
  stop_first_process();
  const auto all = processes();
  for (const auto pid : all) ::kill(pid, SIGSTOP);
  return obstacle_until([all] {
    for (const auto pid : all) ::kill(pid, SIGCONT);
  });
}

void private_server::stop_first_process() const {
  ::kill(pid_, SIGSTOP);
  ::waitpid(pid_, nullptr, WUNTRACED);
}

// Below those that the system hands out itself: it must still be free when the server comes back.
std::uint16_t private_server::free_port() {
  std::random_device random;
  std::uniform_int_distribution<std::uint16_t> any{20'000, 31'999};
  for (int i = 0; i < 100; ++i)
    if (const auto port = any(random); is_free(port)) return port;
  throw std::runtime_error{"there is no free port"};
}

void private_server::make_data(const char* variable, const words& otherwise) const {
  const char* fresh = std::getenv(variable);
  run(fresh != nullptr ? words{"cp", "-a", fresh, "data"} : otherwise);
}

// The folder is made readable to those who connect; nothing but the key is secret.
void private_server::make_certificate() const {
  constexpr auto by_itself =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=$0 -keyout $0.key -out $0.pem";
  run({"sh", "-c", by_itself, "authority"});
  run({"sh", "-c", by_itself, "stranger"});
  run({"sh", "-c",
       "echo subjectAltName=DNS:db.example >names && openssl req -newkey rsa:2048 -nodes -subj /CN=db.example -keyout "
       "key.pem -out request.pem && openssl x509 -req -in request.pem -CA authority.pem -CAkey authority.key "
       "-CAcreateserial -days 2 -extfile names -out certificate.pem && chmod 711 . && chmod 644 *.pem && chmod 600 "
       "key.pem"});
}

void private_server::run(const words& command) const {
  int status = 0;
  const auto pid = spawn(command);
  if (::waitpid(pid, &status, 0) != pid || status != 0)
    throw std::runtime_error{command.front() + " failed: " + contents_of(folder() / "log")};
}

// In the folder, with what it says in the file "log" there; it is ended when this process ends.
pid_t private_server::spawn(const words& command) const {
  // A script's background processes ignore these two signals, by which servers are ended.
  words all{"env", "--default-signal=INT,QUIT", "setpriv", "--pdeathsig", "QUIT"};
  if (::geteuid() == 0)
    all.insert(all.end(), {"--reuid", user_, "--regid", std::to_string(entry_of(user_).pw_gid), "--init-groups"});
  all.insert(all.end(),
             {"sh", "-c", R"(cd "$0" && PATH=$PATH:/usr/sbin && exec "$@" >>log 2>&1 </dev/null)", folder().string()});
  all.insert(all.end(), command.begin(), command.end());
  std::vector<char*> argv;
  for (auto& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, argv.front(), nullptr, nullptr, argv.data(), environ) != 0)
    throw std::runtime_error{all.front() + " cannot be started"};
  return pid;
}

void private_server::end(int signal) {
  if (pid_ < 0) return;
  ::kill(pid_, signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool private_server::has_ended() {
  if (::waitpid(pid_, nullptr, WNOHANG) != pid_) return false;
  pid_ = -1;
  return true;
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
