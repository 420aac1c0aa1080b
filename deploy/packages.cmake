# What is installed, and the Debian packages that cpack makes of it: pareto-edge-daemon and
# pareto-edge-client.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(PARETO_CONTACT "Pareto Edge developers <pareto-edge@example.org>" CACHE STRING "who answers for the packages")

# pareto_install_program(paretod 8 daemon): the program and, made of what it says itself when it is
# installed, its manual page in that section and its completions; and what every package has to
# have.
function(pareto_install_program program section component)
  set(made ${CMAKE_BINARY_DIR}/packages/${program})
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/changelog.in ${made}/changelog.Debian @ONLY)
  install(
    CODE "
    function(say file)
      execute_process(COMMAND \"$<TARGET_FILE:${program}>\" \${ARGN} OUTPUT_FILE \"${made}/\${file}\"
                      COMMAND_ERROR_IS_FATAL ANY)
    endfunction()
    say(${program}.${section} --manual)
    say(${program}.bash --completion bash)
    say(${program}.zsh --completion zsh)
    execute_process(COMMAND gzip -9nfk ${program}.${section} changelog.Debian WORKING_DIRECTORY \"${made}\"
                    COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT ${component})
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/pareto-edge-${component})
  install(TARGETS ${program} RUNTIME COMPONENT ${component})
  install(FILES ${made}/${program}.${section}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
  install(FILES ${made}/${program}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME ${program} COMPONENT ${component})
  install(FILES ${made}/${program}.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
          RENAME _${program} COMPONENT ${component})
  install(FILES ${made}/changelog.Debian.gz deploy/debian/copyright DESTINATION ${doc} COMPONENT ${component})
endfunction()

pareto_install_program(paretod 8 daemon)
# Where "sudo paretod enroll" puts what it makes.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS configs/paretod.yaml)
file(READ configs/paretod.yaml paretod_yaml)
string(REPLACE "\ncredentials: \"\"\n" "\ncredentials: /etc/pareto-edge/credentials\n" paretod_yaml "${paretod_yaml}")
file(WRITE ${CMAKE_BINARY_DIR}/package/paretod.yaml "${paretod_yaml}")
install(FILES ${CMAKE_BINARY_DIR}/package/paretod.yaml DESTINATION /etc/pareto-edge COMPONENT daemon)
install(FILES deploy/systemd/paretod.service DESTINATION lib/systemd/system COMPONENT daemon)
install(FILES deploy/debian/sysusers.conf DESTINATION lib/sysusers.d RENAME pareto-edge.conf COMPONENT daemon)

install(FILES daemon/metrics/METRICS.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/pareto-edge-daemon COMPONENT daemon)

pareto_install_program(paretoctl 1 client)
# The front in bin finds it from there.
install(TARGETS paretoctl_whole RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/pareto-edge COMPONENT client)
set(doc ${CMAKE_INSTALL_DATADIR}/doc/pareto-edge-client)
install(FILES configs/inventory.yaml DESTINATION ${doc}/examples COMPONENT client)
install(DIRECTORY configs/network configs/testbed configs/faults configs/simulation configs/schedules configs/tasks configs/preprocessing DESTINATION ${doc}/examples COMPONENT client)
# In the folders where they lie here: they name each other by them.
install(FILES README.md CONTRIBUTING.md SECURITY.md DESTINATION ${doc} COMPONENT client)
install(DIRECTORY docs DESTINATION ${doc} COMPONENT client)
foreach(document coordinator/data/FORMAT.md partitioner/planning/tasks/FORMAT.md coordinator/train/FORMAT.md core/control/FORMAT.md core/plan/FORMAT.md runtime/schedules/FORMAT.md core/tls/FORMAT.md core/wire/FORMAT.md netem/FORMAT.md partitioner/planning/frontiers/FORMAT.md partitioner/planning/simulation/FORMAT.md daemon/metrics/METRICS.md deploy/README.md tests/e2e/FAULTS.md)
  get_filename_component(folder ${document} DIRECTORY)
  install(FILES ${document} DESTINATION ${doc}/${folder} COMPONENT client)
endforeach()
install(DIRECTORY deploy/prometheus deploy/grafana DESTINATION ${doc}/deploy COMPONENT client)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL daemon client)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "${PARETO_CONTACT}")
# Each package says it in its own words.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE pareto-edge)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# LibTorch loads a BLAS that it does not name.
set(blas "libopenblas0-pthread | libopenblas0")
set(CPACK_DEBIAN_DAEMON_PACKAGE_NAME pareto-edge-daemon)
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS "${blas}, systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_DAEMON_PACKAGE_SUGGESTS avahi-daemon)
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/conffiles ${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/postinst
    ${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/prerm ${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/postrm)
set(CPACK_DEBIAN_DAEMON_DESCRIPTION
    "split inference: the daemon of a device
Runs its part of a neural network that is cut between devices: keeps weights,
computes, and passes activations on. pareto-edge-client tells it what to do.
Whoever reaches its ports can use it: for networks that are trusted.")

set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME pareto-edge-client)
set(CPACK_DEBIAN_CLIENT_PACKAGE_DEPENDS "${blas}")
# The daemon can be on the same machine; Chromium draws the pictures of `paretoctl report --png`.
set(CPACK_DEBIAN_CLIENT_PACKAGE_SUGGESTS "chromium, graphviz, pareto-edge-daemon")
set(CPACK_DEBIAN_CLIENT_DESCRIPTION
    "split inference: where to cut a neural network between devices
Cuts a TorchScript model where it can be cut, runs the parts on devices that
run pareto-edge-daemon, measures, and shows which cuts no other cut beats in
latency and throughput. Without devices it takes the daemon's program on the
same machine.")
include(CPack)
